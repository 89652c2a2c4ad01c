import type { EndpointExplanation } from '../explain/explanation.js';
import { said } from '../../../application/words/said.js';

/** Whether an endpoint is used, and what is known of it: on terminals and on the page alike. */
export function endpointWords(endpoint: EndpointExplanation): string {
  const { used, reason, isLocal, ready, serving, terminating, zoneHints, nodeHints, weight, share } =
    endpoint;
  return said(
    used ? 'used' : reason === undefined ? 'not used' : `not used (${reason})`,
    share && `gets ${share.slots} of ${share.of} (${((100 * share.slots) / share.of).toFixed(2)} %)`,
    weight !== undefined && `weight ${weight}`,
    isLocal && 'on this node',
    ready ? 'ready' : 'not ready',
    terminating && (serving ? 'terminating, still serving' : 'terminating'),
    zoneHints.length > 0 && `for zones ${zoneHints.join(' ')}`,
    nodeHints.length > 0 && `for nodes ${nodeHints.join(' ')}`,
  ).join(', ');
}
