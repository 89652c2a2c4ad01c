import { Option } from 'commander';
import { parseSubject } from '../../../application/explain/subject.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import {
  namespaceOptions,
  serviceName,
  type NamespaceOptions,
  type ServiceName,
} from '../command-line/service-names.js';
import { outputOptions, subcommand, type OutputOptions } from '../command-line/options.js';

interface ExplainOptions extends NamespaceOptions, OutputOptions {
  readonly probe?: boolean;
}

/** What to explain: Services, addresses, ports; and whether to try each endpoint of a Service. */
export const explain = subcommand({
  name: 'explain',
  description:
    'Show how the proxy running on this node handles Services, and why; or whose an address, a port of it, or a node port is.',
  usage: 'NAME|ADDRESS[:PORT][/PROTOCOL]|NODEPORT[/PROTOCOL]... [flags]',
  options: [
    new Option(
      '--probe',
      'Also try each endpoint of the Service from this node: its route, its neighbour entry, and a TCP connection of one second.',
    ),
    ...namespaceOptions,
    ...outputOptions,
  ],
  request(operands, { probe = false, namespace, output }: ExplainOptions) {
    if (operands.length === 0)
      throw new UsageError('explain takes a Service, an address, or a port, got none');
    const subjects = operands.map((operand) => subjectOf(operand, namespace));
    if (probe && subjects.some((subject) => typeof subject === 'string'))
      throw new UsageError('explain --probe takes Services');
    return { subjects, probe, output };
  },
});

/** An address or a port as it is written; otherwise the name of a Service. */
function subjectOf(operand: string, namespace: string | undefined): string | ServiceName {
  if (parseSubject(operand)?.kind === 'address') return operand;
  const name = /^\d+$/.test(operand) ? undefined : serviceName(operand, namespace);
  if (name) return name;
  throw new UsageError(
    `explain takes a Service as NAME or NAMESPACE/NAME, an address, or a port, got ${JSON.stringify(operand)}`,
  );
}
