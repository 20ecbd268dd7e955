package dev.fairway.schemas.serde;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.util.Utf8;

/**
 * Avro's decoder of a byte array, with the one bound that it lacks. It checks the length of strings
 * and bytes against what is left, but believes the item count of an array or map, and readers make
 * room for that many items before they read the first. Here all counts of a value together are at
 * most its bytes plus {@value #FREE_ITEMS} (items that take no bytes exist), so that memory stays
 * in proportion to what was sent.
 */
final class BoundedDecoder extends Decoder {

  private static final int FREE_ITEMS = 1_024;

  private final BinaryDecoder source;
  private long itemsLeft;

  BoundedDecoder(BinaryDecoder source) {
    this.source = source;
    this.itemsLeft = (long) source.remainingBytes() + FREE_ITEMS;
  }

  private long counted(long items) {
    if (items < 0 || items > itemsLeft) {
      throw new AvroRuntimeException(
          "Expected at most %d more items, but found a count of %d".formatted(itemsLeft, items));
    }
    itemsLeft -= items;
    return items;
  }

  @Override
  public long readArrayStart() throws IOException {
    return counted(source.readArrayStart());
  }

  @Override
  public long arrayNext() throws IOException {
    return counted(source.arrayNext());
  }

  @Override
  public long skipArray() throws IOException {
    return counted(source.skipArray());
  }

  @Override
  public long readMapStart() throws IOException {
    return counted(source.readMapStart());
  }

  @Override
  public long mapNext() throws IOException {
    return counted(source.mapNext());
  }

  @Override
  public long skipMap() throws IOException {
    return counted(source.skipMap());
  }

  @Override
  public void readNull() throws IOException {
    source.readNull();
  }

  @Override
  public boolean readBoolean() throws IOException {
    return source.readBoolean();
  }

  @Override
  public int readInt() throws IOException {
    return source.readInt();
  }

  @Override
  public long readLong() throws IOException {
    return source.readLong();
  }

  @Override
  public float readFloat() throws IOException {
    return source.readFloat();
  }

  @Override
  public double readDouble() throws IOException {
    return source.readDouble();
  }

  @Override
  public Utf8 readString(Utf8 old) throws IOException {
    return source.readString(old);
  }

  @Override
  public String readString() throws IOException {
    return source.readString();
  }

  @Override
  public void skipString() throws IOException {
    source.skipString();
  }

  @Override
  public ByteBuffer readBytes(ByteBuffer old) throws IOException {
    return source.readBytes(old);
  }

  @Override
  public void skipBytes() throws IOException {
    source.skipBytes();
  }

  @Override
  public void readFixed(byte[] bytes, int start, int length) throws IOException {
    source.readFixed(bytes, start, length);
  }

  @Override
  public void skipFixed(int length) throws IOException {
    source.skipFixed(length);
  }

  @Override
  public int readEnum() throws IOException {
    return source.readEnum();
  }

  @Override
  public int readIndex() throws IOException {
    return source.readIndex();
  }
}
