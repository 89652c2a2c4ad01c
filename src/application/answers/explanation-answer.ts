import type { KernelWalk, Obstacle, ProbedEndpoint, ProbedEndpoints } from '../explain/checks/results.js';
import type { AddressExplanation, EndpointMatch, FrontendMatch } from '../explain/address-explanation.js';
import type {
  Explanation,
  FamilyExplanation,
  PortExplanation,
  Unserved,
  Absence,
} from '../explain/explanation.js';
import type { Finding } from '../explain/findings.js';
import { endpoint, family, familyHistory, frontend, portStatus, protocol } from './node-shapes.js';
import { fields, flag, having, list, number, optional, text, word } from './shape.js';

const port = fields<PortExplanation>({
  port: text,
  protocol,
  status: portStatus,
  frontends: list(frontend),
  endpoints: list(endpoint),
  findings: list(fields<Finding>({ kind: word<Finding['kind']>(), isFault: flag, text })),
  affinitySeconds: number,
  sourceRanges: list(text),
});

/** What is said of a Service. */
export const serviceExplanation = fields<Explanation>({
  service: text,
  known: flag,
  unserved: optional(fields<Unserved>({ kind: word<Unserved['kind']>(), text })),
  problems: list(text),
  families: list(
    fields<FamilyExplanation>({
      family,
      waiting: flag,
      waitingSeconds: optional(number),
      ports: list(port),
      absence: optional(fields<Absence>({ kind: word<Absence['kind']>(), text })),
      healthCheck: optional(
        fields({ port: number, localEndpoints: number, listening: flag, problem: optional(text) }),
      ),
      sync: familyHistory,
    }),
  ),
  kernel: optional(
    fields<KernelWalk>({
      obstacles: list(
        fields<Obstacle>({ from: text, to: text, outcome: word<Obstacle['outcome']>(), reason: text }),
      ),
      incomplete: optional(text),
    }),
  ),
  probe: optional(
    fields<ProbedEndpoints>({
      probed: list(
        fields<ProbedEndpoint>({ endpoint: text, protocol, problem: optional(text), facts: list(text) }),
      ),
      left: number,
    }),
  ),
});

const match = { service: text, port: text, protocol, family };

const addressExplanation = fields<AddressExplanation>({
  subject: text,
  frontends: list(
    fields<FrontendMatch>({ ...match, frontend, status: portStatus, sourceRanges: optional(list(text)) }),
  ),
  endpoints: list(fields<EndpointMatch>({ ...match, endpoint })),
  otherwise: optional(text),
});

/** The answer to `/debug/explain`. */
export const explanationAnswer = having('service', serviceExplanation, addressExplanation);
