import type { Protocol } from '../../../domain/model/service-port-name.js';
import type { TraceAnswer } from '../../trace/answer.js';

/** Packets that another program's rules refuse or drop, always or by chance. */
export interface Obstacle {
  /** As `kubeproxy trace` takes them. */
  readonly from: string;
  readonly to: string;
  readonly outcome: TraceAnswer['outcome'];
  readonly reason: string;
}

/** What packets to the frontends of a Service meet in the kernel besides the proxy's own rules. */
export interface KernelWalk {
  readonly obstacles: readonly Obstacle[];
  /** Why not all could be followed, for people. */
  readonly incomplete?: string;
}

/** How this node gets to an endpoint, tried at the moment. */
export interface ProbedEndpoint {
  /** `10.244.1.5:8080`. */
  readonly endpoint: string;
  readonly protocol: Protocol;
  /** Why it cannot be reached, for people; missing if it can, or if that is not known. */
  readonly problem?: string;
  /** The route, the entry of the neighbour, and the connection, for people. */
  readonly facts: readonly string[];
}

export interface ProbedEndpoints {
  readonly probed: readonly ProbedEndpoint[];
  /** How many more there are. */
  readonly left: number;
}
