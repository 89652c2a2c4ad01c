import { Option } from 'commander';
import { parseSubject } from '../../../application/explain/subject.js';
import { UsageError } from '../usage-error.js';
import { outputOf, outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

/** What to explain. */
export interface ExplainRequest {
  readonly name: 'explain';
  /** A Service as `namespace/name`, an address, or a port. */
  readonly subject: string;
  /** Whether to try each endpoint of a Service, from this node. */
  readonly probe: boolean;
  readonly output: OutputFormat;
}

export const explain: Subcommand<ExplainRequest> = {
  name: 'explain',
  description:
    'Show how the proxy running on this node handles a Service, and why; or whose an address, a port of it, or a node port is.',
  usage: 'NAMESPACE/NAME|ADDRESS[:PORT][/PROTOCOL]|NODEPORT[/PROTOCOL] [flags]',
  options: [
    new Option(
      '--probe',
      'Also try each endpoint of the Service from this node: its route, its neighbour entry, and a TCP connection of one second.',
    ),
    outputOption(),
  ],
  request(operands, options) {
    const [subject = ''] = operands;
    const { probe = false } = options as { readonly probe?: boolean };
    const kind = parseSubject(subject)?.kind;
    if (operands.length === 1 && (kind === 'service' || (kind === 'address' && !probe)))
      return { name: 'explain', subject, probe, output: outputOf(options) };
    if (kind === 'address') throw new UsageError('explain --probe takes a Service as NAMESPACE/NAME');
    throw new UsageError(
      `explain takes one Service as NAMESPACE/NAME, an address, or a port, got [${operands.join(' ')}]`,
    );
  },
};
