"""What an agent needs to go on after it was killed, in one file that is there whole or not at all."""

import hashlib
import json
import os


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


def load(path):
    """The checkpoint, or None if there is none."""
    try:
        with open(path, encoding="utf-8") as checkpoint:
            return json.load(checkpoint)
    except FileNotFoundError:
        return None


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
