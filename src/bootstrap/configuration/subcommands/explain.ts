import { parseSubject } from '../../../application/explain/subject.js';
import { UsageError } from '../errors.js';
import { outputOf, outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

/** What to explain. */
export interface ExplainRequest {
  readonly name: 'explain';
  /** A Service as `namespace/name`, an address, or a port. */
  readonly subject: string;
  readonly output: OutputFormat;
}

export const explain: Subcommand<ExplainRequest> = {
  name: 'explain',
  description:
    'Show how the proxy running on this node handles a Service, and why; or whose an address, a port of it, or a node port is.',
  usage: 'NAMESPACE/NAME|ADDRESS[:PORT][/PROTOCOL]|NODEPORT[/PROTOCOL] [flags]',
  options: [outputOption()],
  request(operands, options) {
    const [subject = ''] = operands;
    if (operands.length === 1 && parseSubject(subject))
      return { name: 'explain', subject, output: outputOf(options) };
    throw new UsageError(
      `explain takes one Service as NAMESPACE/NAME, an address, or a port, got [${operands.join(' ')}]`,
    );
  },
};
