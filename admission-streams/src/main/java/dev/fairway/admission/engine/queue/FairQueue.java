package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Waiting requests of one tenant by virtual finish time, the earlier arrival first among equals. A
 * treap whose nodes carry, of their subtree, the size, the summed demand, the summed length that it
 * takes of the tenant's share, the least demand, and the lanes that its requests may use: so a
 * position, an ETA and the next request that may pass cost O(log n) at any queue length. Priorities
 * are a hash of the arrival number: the shape is random and yet the same in every replay.
 */
public final class FairQueue implements Iterable<Waiter> {
  private static final int SUMS = Dimension.CONCURRENT_REQUESTS.ordinal();

  private Node root;

  /**
   * The first requests in order.
   *
   * @param count how many
   * @param demand what they take, per dimension that refills
   * @param inLanes of that, what requests take that may use a lane
   * @param length what they take of the tenant's share, in tag units
   */
  public record Prefix(int count, Amounts demand, Amounts inLanes, long length) {}

  private static final class Node {
    Waiter waiter;
    final long priority;
    final long ownLength;
    final long ownLanes;
    Node left;
    Node right;
    int count;
    long length;
    long lanes;
    final long[] sums = new long[SUMS];
    final long[] inLanes = new long[SUMS];
    final long[] least = new long[SUMS];

    Node(Waiter waiter, long length, long lanes) {
      this.waiter = waiter;
      this.priority = mix(waiter.arrival());
      this.ownLength = length;
      this.ownLanes = lanes;
      update();
    }

    void update() {
      count = 1 + count(left) + count(right);
      length = Amounts.saturatedAdd(ownLength, Amounts.saturatedAdd(length(left), length(right)));
      lanes = ownLanes | (left == null ? 0 : left.lanes) | (right == null ? 0 : right.lanes);
      for (int i = 0; i < SUMS; i++) {
        long own = waiter.demand().get(Dimension.of(i));
        sums[i] = Amounts.saturatedAdd(own, Amounts.saturatedAdd(sum(left, i), sum(right, i)));
        inLanes[i] =
            Amounts.saturatedAdd(
                inLane(own), Amounts.saturatedAdd(inLanes(left, i), inLanes(right, i)));
        least[i] = Math.min(own, Math.min(least(left, i), least(right, i)));
      }
    }

    private long inLane(long own) {
      return ownLanes == 0 ? 0 : own;
    }
  }

  /** What all requests take that may use a lane. */
  public Amounts inLanes() {
    Amounts all = Amounts.NONE;
    for (int i = 0; i < SUMS; i++) {
      all = all.with(Dimension.of(i), inLanes(root, i));
    }
    return all;
  }

  /**
   * Puts a request in line.
   *
   * @param length what it takes of its tenant's share, in tag units
   * @param lanes bits of the lanes that it may use
   */
  public void add(Waiter waiter, long length, long lanes) {
    root = insert(root, new Node(waiter, length, lanes));
  }

  /** Takes a request out of line; false if it was not in it. */
  public boolean remove(Waiter waiter) {
    int before = size();
    root = delete(root, waiter.finishTag(), waiter.arrival());
    return size() < before;
  }

  /** Replaces a waiter by a copy that has the same tags, arrival and demand. */
  public void replace(Waiter waiter) {
    Node node = findNode(waiter.finishTag(), waiter.arrival());
    node.waiter = waiter;
  }

  /** Requests in line. */
  public int size() {
    return count(root);
  }

  /** The first in line, or null. */
  public Waiter first() {
    Node node = root;
    if (node == null) {
      return null;
    }
    while (node.left != null) {
      node = node.left;
    }
    return node.waiter;
  }

  /** All requests before one of that tag and arrival, whether it is in line or not. */
  public Prefix before(long finishTag, long arrival) {
    Sum sum = new Sum();
    Node node = root;
    while (node != null) {
      if (compare(node.waiter, finishTag, arrival) < 0) {
        sum.addWithLeft(node);
        node = node.right;
      } else {
        node = node.left;
      }
    }
    return sum.prefix();
  }

  /**
   * The longest prefix whose length stays below {@code most}; a request that ends exactly there
   * belongs to it if it arrived before {@code arrival}.
   */
  public Prefix upToLength(long most, long arrival) {
    Sum sum = new Sum();
    Node node = root;
    while (node != null) {
      long end =
          Amounts.saturatedAdd(sum.length, Amounts.saturatedAdd(length(node.left), node.ownLength));
      if (end < most || (end == most && node.waiter.arrival() < arrival)) {
        sum.addWithLeft(node);
        node = node.right;
      } else {
        node = node.left;
      }
    }
    return sum.prefix();
  }

  /**
   * The first request after one of that tag and arrival that may use one of those lanes, or null.
   */
  public Waiter nextInLane(long lanes, long finishTag, long arrival) {
    return nextInLane(root, lanes, finishTag, arrival);
  }

  private static Waiter nextInLane(Node node, long lanes, long finishTag, long arrival) {
    if (node == null || (node.lanes & lanes) == 0) {
      return null;
    }
    if (compare(node.waiter, finishTag, arrival) <= 0) {
      return nextInLane(node.right, lanes, finishTag, arrival);
    }
    Waiter found = nextInLane(node.left, lanes, finishTag, arrival);
    if (found == null && (node.ownLanes & lanes) != 0) {
      found = node.waiter;
    }
    return found != null ? found : nextInLane(node.right, lanes, finishTag, arrival);
  }

  /**
   * The first request after one of that tag and arrival that takes at most that much of a dimension
   * that refills, or null.
   */
  public Waiter nextAtMost(Dimension d, long most, long finishTag, long arrival) {
    return nextAtMost(root, d.ordinal(), most, finishTag, arrival);
  }

  private static Waiter nextAtMost(Node node, int i, long most, long finishTag, long arrival) {
    if (node == null || node.least[i] > most) {
      return null;
    }
    if (compare(node.waiter, finishTag, arrival) <= 0) {
      return nextAtMost(node.right, i, most, finishTag, arrival);
    }
    Waiter found = nextAtMost(node.left, i, most, finishTag, arrival);
    if (found == null && node.waiter.demand().get(Dimension.of(i)) <= most) {
      found = node.waiter;
    }
    return found != null ? found : nextAtMost(node.right, i, most, finishTag, arrival);
  }

  /** In order of service. The queue must not change meanwhile. */
  @Override
  public Iterator<Waiter> iterator() {
    Deque<Node> path = new ArrayDeque<>();
    for (Node node = root; node != null; node = node.left) {
      path.push(node);
    }
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return !path.isEmpty();
      }

      @Override
      public Waiter next() {
        if (path.isEmpty()) {
          throw new NoSuchElementException();
        }
        Node next = path.pop();
        for (Node node = next.right; node != null; node = node.left) {
          path.push(node);
        }
        return next.waiter;
      }
    };
  }

  private static final class Sum {
    private int count;
    private long length;
    private final long[] sums = new long[SUMS];
    private final long[] inLanes = new long[SUMS];

    void addWithLeft(Node node) {
      count += 1 + count(node.left);
      length =
          Amounts.saturatedAdd(length, Amounts.saturatedAdd(node.ownLength, length(node.left)));
      for (int i = 0; i < SUMS; i++) {
        long own = node.waiter.demand().get(Dimension.of(i));
        sums[i] = Amounts.saturatedAdd(sums[i], Amounts.saturatedAdd(own, sum(node.left, i)));
        inLanes[i] =
            Amounts.saturatedAdd(
                inLanes[i], Amounts.saturatedAdd(node.inLane(own), inLanes(node.left, i)));
      }
    }

    Prefix prefix() {
      Amounts demand = Amounts.NONE;
      Amounts lanes = Amounts.NONE;
      for (int i = 0; i < SUMS; i++) {
        demand = demand.with(Dimension.of(i), sums[i]);
        lanes = lanes.with(Dimension.of(i), inLanes[i]);
      }
      return new Prefix(count, demand, lanes, length);
    }
  }

  private Node findNode(long finishTag, long arrival) {
    Node node = root;
    while (node != null) {
      int order = compare(node.waiter, finishTag, arrival);
      if (order == 0) {
        return node;
      }
      node = order < 0 ? node.right : node.left;
    }
    return null;
  }

  private static Node insert(Node node, Node added) {
    if (node == null) {
      return added;
    }
    if (compare(added.waiter, node.waiter.finishTag(), node.waiter.arrival()) < 0) {
      node.left = insert(node.left, added);
      if (node.left.priority > node.priority) {
        return rotateRight(node);
      }
    } else {
      node.right = insert(node.right, added);
      if (node.right.priority > node.priority) {
        return rotateLeft(node);
      }
    }
    node.update();
    return node;
  }

  private static Node delete(Node node, long finishTag, long arrival) {
    if (node == null) {
      return null;
    }
    int order = compare(node.waiter, finishTag, arrival);
    if (order == 0) {
      return merge(node.left, node.right);
    }
    if (order < 0) {
      node.right = delete(node.right, finishTag, arrival);
    } else {
      node.left = delete(node.left, finishTag, arrival);
    }
    node.update();
    return node;
  }

  private static Node merge(Node left, Node right) {
    if (left == null) {
      return right;
    }
    if (right == null) {
      return left;
    }
    if (left.priority > right.priority) {
      left.right = merge(left.right, right);
      left.update();
      return left;
    }
    right.left = merge(left, right.left);
    right.update();
    return right;
  }

  private static Node rotateRight(Node node) {
    Node top = node.left;
    node.left = top.right;
    node.update();
    top.right = node;
    top.update();
    return top;
  }

  private static Node rotateLeft(Node node) {
    Node top = node.right;
    node.right = top.left;
    node.update();
    top.left = node;
    top.update();
    return top;
  }

  private static int compare(Waiter waiter, long finishTag, long arrival) {
    int byTag = Long.compare(waiter.finishTag(), finishTag);
    return byTag != 0 ? byTag : Long.compare(waiter.arrival(), arrival);
  }

  private static int count(Node node) {
    return node == null ? 0 : node.count;
  }

  private static long length(Node node) {
    return node == null ? 0 : node.length;
  }

  private static long sum(Node node, int i) {
    return node == null ? 0 : node.sums[i];
  }

  private static long inLanes(Node node, int i) {
    return node == null ? 0 : node.inLanes[i];
  }

  private static long least(Node node, int i) {
    return node == null ? Long.MAX_VALUE : node.least[i];
  }

  /** Stafford's variant 13 of the 64-bit finaliser. */
  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
