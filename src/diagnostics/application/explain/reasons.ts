import type { ForwardingEntry, Frontend } from '../../../domain/forwarding/forwarding-entry.js';
import { frontendName } from '../../../domain/forwarding/frontend-name.js';
import type { Endpoint } from '../../../domain/model/endpoint.js';
import type { ForwardingObstacle } from '../../../application/node/forwarding-obstacles.js';
import type { HeldFrontend } from '../../../application/status/port-status.js';
import { heldBy, holderFateText } from '../../../application/words/held-words.js';
import type { FrontendExplanation } from './explanation.js';
import { LACKS, type Finding } from './findings.js';
import { said } from '../../../application/words/said.js';
import { counted } from '../../../application/words/counted.js';

/**
 * What clients outside this node get from a frontend, and why.
 * @param held the service port that it belongs to instead
 * @param localhost where the proxy itself listens for the node port
 * @param holderOf the entry of the service port that holds a frontend; undefined if it is gone by now
 */
export function explainedFrontend(
  entry: ForwardingEntry,
  frontend: Frontend,
  held: HeldFrontend | undefined,
  findings: readonly Finding[],
  localhost: string | undefined,
  holderOf: (held: HeldFrontend) => ForwardingEntry | undefined,
): FrontendExplanation {
  const { protocol } = entry.name;
  const name = frontendName(frontend.address, frontend.port, protocol);
  if (held) {
    const holder = holderOf(held);
    const its = holder?.frontends.find((one) => frontendName(one.address, one.port, protocol) === name);
    const fate = holder && its && holderFateText(holder, its);
    return { ...frontend, outcome: 'held', reason: said(heldBy(held), fate).join(', ') };
  }
  const also = frontend.kind === 'node-port' && localhost && `the proxy itself listens on ${localhost}`;
  return { ...frontend, reason: said(frontendReason(entry, frontend, findings), also).join('; ') };
}

/** The frontend, where the kernel forwards nothing that comes from outside to any of its endpoints. */
export function stopped(
  frontend: FrontendExplanation,
  { endpoints }: ForwardingEntry,
  obstacles: readonly ForwardingObstacle[],
): FrontendExplanation {
  const obstacle = obstacles.find(({ kind }) => kind === 'not-forwarded');
  const used = (frontend.policy === 'Local' ? endpoints.local : endpoints.cluster) ?? [];
  return frontend.outcome === 'forward' && obstacle && used.every((one) => obstacle.affects(one))
    ? { ...frontend, outcome: 'drop', reason: obstacle.text }
    : frontend;
}

/** Why clients outside this node get what the service port itself offers there. */
function frontendReason(
  { endpoints }: ForwardingEntry,
  { policy, outcome }: Frontend,
  findings: readonly Finding[],
): string {
  const isLack = ({ kind }: Finding): boolean => LACKS.some((lack) => lack === kind);
  const { text } = findings.find(isLack) ?? { text: 'no endpoint is usable' };
  switch (outcome) {
    case 'reject':
      return text;
    case 'drop':
      return 'the policy is Local, and no endpoint on this node is usable';
    case 'forward':
      return policy === 'Local'
        ? `to ${counted(endpoints.local!.length, 'endpoint')} on this node`
        : `to ${counted(endpoints.cluster!.length, 'endpoint')}`;
  }
}

/** Why an endpoint is not used although it is ready. */
export function unusedReason(endpoint: Endpoint, { endpoints }: ForwardingEntry): string | undefined {
  if (!endpoint.ready) return undefined;
  if (endpoint.weight === 0) return 'its weight is 0';
  if (!endpoints.cluster && !endpoint.isLocal) return 'the policy is Local, and it is on another node';
  const { zoneHints, nodeHints } = endpoint;
  if (zoneHints.length + nodeHints.length > 0) return 'hinted for others than this node';
  return undefined;
}
