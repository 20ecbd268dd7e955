package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Waiter;
import java.util.function.Predicate;

/**
 * Waiting requests by virtual finish time, the earlier arrival first among equals. A treap whose
 * nodes carry the size and the summed estimates of their subtree, so that a position and an ETA
 * cost O(log n) at any queue length. Priorities are a hash of the arrival number: the shape is
 * random and yet the same in every replay.
 */
public final class FairQueue implements AdmissionOrder {
  private static final int SUMS = Dimension.CONCURRENT_REQUESTS.ordinal();

  private Node root;

  private static final class Node {
    Waiter waiter;
    final long priority;
    Node left;
    Node right;
    int count;
    final long[] sums = new long[SUMS];

    Node(Waiter waiter) {
      this.waiter = waiter;
      this.priority = mix(waiter.arrival());
      update();
    }

    void update() {
      count = 1 + count(left) + count(right);
      for (int i = 0; i < SUMS; i++) {
        long own = waiter.estimate().get(Dimension.of(i));
        sums[i] = Amounts.saturatedAdd(own, Amounts.saturatedAdd(sum(left, i), sum(right, i)));
      }
    }
  }

  /** Puts a request in line. */
  public void add(Waiter waiter) {
    root = insert(root, new Node(waiter));
  }

  /** Takes a request out of line; false if it was not in it. */
  public boolean remove(Waiter waiter) {
    int before = size();
    root = delete(root, waiter.finishTag(), waiter.arrival());
    return size() < before;
  }

  /** Replaces a waiter by a copy that has the same tags, arrival and estimate. */
  public void replace(Waiter waiter) {
    Node node = findNode(waiter.finishTag(), waiter.arrival());
    node.waiter = waiter;
  }

  @Override
  public int size() {
    return count(root);
  }

  @Override
  public Waiter head() {
    Node node = root;
    if (node == null) {
      return null;
    }
    while (node.left != null) {
      node = node.left;
    }
    return node.waiter;
  }

  @Override
  public Ahead ahead(long finishTag, long arrival) {
    long[] sums = new long[SUMS];
    int count = 0;
    Node node = root;
    while (node != null) {
      if (compare(node.waiter, finishTag, arrival) < 0) {
        count += 1 + count(node.left);
        for (int i = 0; i < SUMS; i++) {
          long own = node.waiter.estimate().get(Dimension.of(i));
          sums[i] = Amounts.saturatedAdd(sums[i], Amounts.saturatedAdd(own, sum(node.left, i)));
        }
        node = node.right;
      } else {
        node = node.left;
      }
    }
    Amounts estimates = Amounts.NONE;
    for (int i = 0; i < SUMS; i++) {
      estimates = estimates.with(Dimension.of(i), sums[i]);
    }
    return new Ahead(count, estimates);
  }

  @Override
  public void forEach(Predicate<Waiter> visitor) {
    visit(root, visitor);
  }

  private static boolean visit(Node node, Predicate<Waiter> visitor) {
    return node == null
        || (visit(node.left, visitor) && visitor.test(node.waiter) && visit(node.right, visitor));
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

  private static long sum(Node node, int i) {
    return node == null ? 0 : node.sums[i];
  }

  /** Stafford's variant 13 of the 64-bit finaliser. */
  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
