import type { CountingFacts } from '../../../domain/traffic/counting-facts.js';
import { said } from '../../../application/words/said.js';

/** Which connections cannot be seen, and what to do; how the others were counted, unless all were. On terminals and on the page. */
export function countingWords(facts: CountingFacts): readonly string[] {
  const { tracksServices, hidesDeadOnBridges, complete, readShare, sampledOneIn, timesLost } = facts;
  return said(
    !tracksServices &&
      'connections through IPVS are not tracked, so none is shown: set net.ipv4.vs.conntrack to 1',
    hidesDeadOnBridges &&
      'connections of pods to a dead endpoint on their own bridge are not seen, since net.bridge.bridge-nf-call-iptables is 1: kubeproxy explain NAMESPACE/NAME --probe tries them',
    !complete && `not complete yet: ${Math.floor(100 * readShare)}% of the connections have been read`,
    sampledOneIn > 1 && `one in ${sampledOneIn} connections is counted, and the numbers multiplied`,
    timesLost > 0 &&
      `events were lost ${timesLost === 1 ? 'once' : `${timesLost} times`}: some new connections are missing; open ones are read again`,
  );
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** With one digit after the point: `1.5 KiB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return `${power === 0 ? Math.round(bytes) : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}
