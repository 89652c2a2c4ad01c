import { addLine, createLine } from '../../domain/ipset/script-lines.js';
import type { IpSetStep } from './ip-sets.js';

/** Protocols by their numbers: the tool knows names only where there is an /etc/protocols. */
const NUMBERS: Readonly<Record<string, string>> = { tcp: '6', udp: '17', sctp: '132' };

/** The line of `ipset restore` for a step. */
export function restoreLine(step: IpSetStep): string {
  switch (step.kind) {
    case 'create':
      return createLine(step.set);
    case 'add':
      return addLine(step.set, numbered(step.member));
    case 'delete':
      return `del ${step.set} ${numbered(step.member)}`;
    case 'destroy':
      return `destroy ${step.set}`;
  }
}

function numbered(member: string): string {
  return member.replace(/,(tcp|udp|sctp):/, (_, name: string) => `,${NUMBERS[name]}:`);
}
