package dev.fairway.replay.verify;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.ProtocolData;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.JsonEncoder;

/**
 * A journal as a file: one {@link AdmissionEvent} a line, in Avro's JSON encoding of its schema.
 * Text tools can look into it and change it. Not thread-safe.
 */
public final class JournalFile implements JournalSource {
  private final Path path;
  private final BufferedReader in;
  private final DatumReader<AdmissionEvent> reader =
      ProtocolData.reader(AdmissionEvent.getClassSchema(), AdmissionEvent.class);
  private long lineNumber;

  private JournalFile(Path path) throws IOException {
    this.path = path;
    // Bytes that are no text make their line unreadable, not the file.
    this.in =
        new BufferedReader(
            new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8));
  }

  /** Opens a file for reading. */
  public static JournalFile open(Path path) throws IOException {
    return new JournalFile(path);
  }

  /** Appends one record as a line. */
  public static void write(AdmissionEvent event, Writer out) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    JsonEncoder encoder = EncoderFactory.get().jsonEncoder(AdmissionEvent.getClassSchema(), bytes);
    ProtocolData.writer(AdmissionEvent.class).write(event, encoder);
    encoder.flush();
    out.write(bytes.toString(StandardCharsets.UTF_8));
    out.write('\n');
  }

  @Override
  public AdmissionEvent next() throws IOException {
    String line = in.readLine();
    lineNumber++;
    while (line != null && line.isBlank()) {
      line = in.readLine();
      lineNumber++;
    }
    if (line == null) {
      return null;
    }
    try {
      return reader.read(
          null, DecoderFactory.get().jsonDecoder(AdmissionEvent.getClassSchema(), line));
    } catch (IOException | AvroRuntimeException e) {
      throw new UnreadableRecordException(
          path
              + ", line "
              + lineNumber
              + ": expected a journal record in Avro's JSON encoding, but: "
              + e.getMessage()
              + ". Write the file with 'fairway replay --export'.",
          e);
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
