package dev.fairway.replay.invariants;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Loads Fairway's classes anew, those of one source file of the engine compiled from a changed copy
 * of it: the whole engine, and whatever runs and checks it, beside the sound one.
 */
final class PatchedLoader extends ClassLoader {
  private static final String OURS = "dev.fairway.";
  private static final Path ENGINE =
      Path.of("../admission-streams/src/main/java/dev/fairway/admission/engine");

  private final Map<String, ByteArrayOutputStream> patched = new HashMap<>();

  /**
   * An engine with a fault.
   *
   * @param source file below the engine's package
   * @param edits what is there exactly once, and what takes its place, by turns
   */
  PatchedLoader(String source, List<String> edits) {
    super(PatchedLoader.class.getClassLoader());
    String text = read(source);
    for (int i = 0; i < edits.size(); i += 2) {
      text = changed(text, source, edits.get(i), edits.get(i + 1));
    }
    compile(source, text);
  }

  private static String read(String source) {
    try {
      return Files.readString(ENGINE.resolve(source));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String changed(String text, String source, String sound, String broken) {
    int at = text.indexOf(sound);
    if (at < 0 || text.indexOf(sound, at + 1) >= 0) {
      throw new IllegalArgumentException(
          "Expected exactly once in " + source + ": " + sound + "; adapt the fault to the source");
    }
    return text.replace(sound, broken);
  }

  private void compile(String source, String text) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> options = List.of("-proc:none", "-nowarn", "-classpath", classPath);
    JavaFileObject changed =
        new SimpleJavaFileObject(URI.create("mem:///" + source), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
          }
        };
    StringWriter messages = new StringWriter();
    try (JavaFileManager files = inMemory(compiler)) {
      if (!compiler.getTask(messages, files, null, options, null, List.of(changed)).call()) {
        throw new IllegalArgumentException("Changed, " + source + " does not compile: " + messages);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JavaFileManager inMemory(JavaCompiler compiler) {
    return new ForwardingJavaFileManager<JavaFileManager>(
        compiler.getStandardFileManager(null, null, null)) {
      @Override
      public JavaFileObject getJavaFileForOutput(
          Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        patched.put(className, bytes);
        return new SimpleJavaFileObject(URI.create("mem:///" + className), kind) {
          @Override
          public OutputStream openOutputStream() {
            return bytes;
          }
        };
      }
    };
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(OURS)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    byte[] bytes = patched.containsKey(name) ? patched.get(name).toByteArray() : sound(name);
    return defineClass(name, bytes, 0, bytes.length);
  }

  private byte[] sound(String name) throws ClassNotFoundException {
    try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
