import { NamedError } from '../../../domain/model/named-error.js';

/** Why the proxy of a node is not reachable. */
export type UnreachableCause =
  /** No pod of a proxy is on this node. */
  | 'absent'
  /** There is a pod, but its container does not run. */
  | 'not-running'
  /** The API server does not let this user query it, or does not know the pod any more. */
  | 'rejected'
  /** Nothing came in time. */
  | 'timeout'
  /** The container has no such program, or its program does not understand the query: it is another image. */
  | 'another-image'
  /** What came is none of the answers of a proxy, or is too large for one. */
  | 'bad-answer'
  /** The program was reached, but the proxy inside was not, or the connection broke. */
  | 'failed';

/** A node's proxy did not answer. */
export class NoAnswerError extends NamedError {
  constructor(
    readonly code: UnreachableCause,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The proxy of one node of the cluster. */
export interface NodeProxy {
  readonly node: string;
  /**
   * Runs a subcommand of the program beside the proxy and returns what it prints, which is not looked at. Changes nothing. Tries once.
   * @throws NoAnswerError
   */
  query(query: ProxyQuery): Promise<string>;
}

/** A query to a proxy. */
export interface ProxyQuery {
  /** The subcommand with its arguments. It prints JSON. */
  readonly words: readonly string[];
  /** Milliseconds for the whole answer. */
  readonly timeout: number;
}

/** The proxies of a cluster, as they can be found from outside. */
export interface NodeProxies {
  /**
   * One per node, in no order; nodes without a proxy are among them if nodes can be listed.
   * @throws when they cannot be determined, without a retry.
   */
  list(): Promise<FoundProxies>;
}

export interface FoundProxies {
  readonly proxies: readonly NodeProxy[];
  /** What is not known about the cluster, such as its nodes, and why. */
  readonly unknown: readonly string[];
}
