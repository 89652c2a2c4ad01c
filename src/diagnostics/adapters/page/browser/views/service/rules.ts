import { grouped } from '../../../../../../domain/model/maps.js';
import type {
  EndpointExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../../../../../application/explain/explanation.js';

/** What becomes of the packets to some frontends of a service port, and where they may go. */
export interface Rule {
  readonly policy: FrontendExplanation['policy'];
  readonly outcome: FrontendExplanation['outcome'];
  readonly reason: string;
  readonly frontends: readonly FrontendExplanation[];
  /** Empty unless the outcome is `forward`. */
  readonly endpoints: readonly EndpointExplanation[];
}

/** The frontends of a service port, put together where the same becomes of their packets. */
export function rulesOf({ frontends, endpoints }: PortExplanation): readonly Rule[] {
  const groups = grouped(
    frontends,
    (frontend) => `${frontend.policy} ${frontend.outcome} ${frontend.reason}`,
  );
  return [...groups.values()].map((alike) => {
    const { policy, outcome, reason } = alike[0]!;
    const leadsTo = (endpoint: EndpointExplanation): boolean =>
      outcome === 'forward' && endpoint.used && (policy === 'Cluster' || endpoint.isLocal);
    return { policy, outcome, reason, frontends: alike, endpoints: endpoints.filter(leadsTo) };
  });
}
