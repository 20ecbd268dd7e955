"""What an agent needs to go on after it was killed, in one file that is there whole or not at all."""

import fcntl
import hashlib
import json
import os


def lock(folder):
    """Keeps others out of the folder until this process ends, however it ends; False if another one is in there."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


def save(path, checkpoint):
    """Replaces the checkpoint: whoever reads it sees the old one or the new one, also after a power cut."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as out:
        json.dump(checkpoint, out, indent=1)
        out.flush()
        os.fsync(out.fileno())
    os.replace(path + ".new", path)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def load(path, shape):
    """The checkpoint, or None if there is none; a ValueError if it is none of that shape."""
    try:
        with open(path, encoding="utf-8") as file:
            checkpoint = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{path} is no checkpoint: {error}") from None
    if not fits(checkpoint, shape):
        raise ValueError(f"{path} is a checkpoint of another program")
    return checkpoint


def fits(value, shape):
    """Whether a value has the types of the shape, and a dict at least its names."""
    if not isinstance(shape, dict):
        return isinstance(value, shape)
    return isinstance(value, dict) and all(name in value and fits(value[name], shape[name]) for name in shape)


def delete(path):
    os.remove(path)


def read(path):
    """Reads a file for the model: its text, and what tells later whether it changed."""
    with open(path, "rb") as file:
        content = file.read()
    return {"sha256": hashlib.sha256(content).hexdigest(), "text": content.decode("utf-8", "replace")}


def changed(path, known):
    """Whether a file is another than the one that was read; it is hashed, and not handed to the agent."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest() != known["sha256"]
