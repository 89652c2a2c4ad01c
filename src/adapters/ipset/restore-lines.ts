import { addLine, createLine } from '../../domain/ipset/script-lines.js';
import { PROTOCOL_NUMBERS } from '../../domain/model/protocol-number.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpSetStep } from './ip-sets.js';

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

/** Protocols by their numbers: the tool knows names only where there is an /etc/protocols. */
function numbered(member: string): string {
  return member.replace(
    /,(tcp|udp|sctp):/,
    (_, name: string) => `,${PROTOCOL_NUMBERS[name.toUpperCase() as Protocol]}:`,
  );
}
