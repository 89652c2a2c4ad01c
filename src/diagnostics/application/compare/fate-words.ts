import type { Verdict, Outcome } from '../../domain/compare/compare-sides.js';
import { hostPort } from '../../../domain/net/address.js';
import type { Packet } from '../../domain/trace/trace.js';

/** Where a packet goes. */
export type Destination = Pick<Packet, 'destination' | 'destinationPort' | 'protocol'>;

/** `10.96.0.10:80/TCP`. */
export function destinationText({ destination, destinationPort, protocol }: Destination): string {
  return `${hostPort(destination, destinationPort)}/${protocol}`;
}

const WORDS: Readonly<Record<Exclude<Verdict['verdict'], 'sent'>, string>> = {
  refused: 'refused',
  dropped: 'dropped',
  untouched: 'left alone',
  delivered: 'left to a process of the node',
};

/** What becomes of a packet, for people. */
export function fateLines({ fates, stickySeconds }: Outcome): string {
  if (stickySeconds === undefined) return fates.map(fateText).join(', ');
  const isForAll = fates.every(({ sticky }) => sticky);
  const texts = fates.map((fate) =>
    isForAll || !fate.sticky ? fateText(fate) : `${fateText(fate)} (remembered)`,
  );
  return `${texts.join(', ')}, remembered for ${stickySeconds} s`;
}

function fateText({ verdict, endpoint, masquerade, probability }: Verdict): string {
  const share = probability > 1 - 1e-6 ? '' : ` ${Number((probability * 100).toFixed(4))} %`;
  const source = masquerade ? ' with another source' : '';
  return verdict === 'sent'
    ? `to ${hostPort(endpoint!.address, endpoint!.port)}${source}${share}`
    : `${WORDS[verdict]}${source}${share}`;
}
