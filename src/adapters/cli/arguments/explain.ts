import { Option } from 'commander';
import { parseSubject } from '../../../application/explain/subject.js';
import { UsageError } from '../usage-error.js';
import { outputOption, subcommand, type OutputOptions } from './subcommand.js';

/** What to explain: a Service as `namespace/name`, an address, or a port; and whether to try each endpoint of a Service. */
export const explain = subcommand({
  name: 'explain',
  description:
    'Show how the proxy running on this node handles a Service, and why; or whose an address, a port of it, or a node port is.',
  usage: 'NAMESPACE/NAME|ADDRESS[:PORT][/PROTOCOL]|NODEPORT[/PROTOCOL] [flags]',
  options: [
    new Option(
      '--probe',
      'Also try each endpoint of the Service from this node: its route, its neighbour entry, and a TCP connection of one second.',
    ),
    outputOption,
  ],
  request(operands, { probe = false, output }: OutputOptions & { readonly probe?: boolean }) {
    const [subject = ''] = operands;
    const kind = parseSubject(subject)?.kind;
    if (operands.length === 1 && (kind === 'service' || (kind === 'address' && !probe)))
      return { subject, probe, output };
    if (kind === 'address') throw new UsageError('explain --probe takes a Service as NAMESPACE/NAME');
    throw new UsageError(
      `explain takes one Service as NAMESPACE/NAME, an address, or a port, got [${operands.join(' ')}]`,
    );
  },
});
