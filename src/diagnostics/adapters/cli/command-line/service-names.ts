import { Option } from 'commander';
import { UsageError } from '../../../../adapters/cli/usage-error.js';

/** A Service, or one port of it, as somebody names it. */
export interface ServiceName {
  /** `NAMESPACE/NAME`, or `NAME` for that of every namespace. */
  readonly service: string;
  /** The name of a port of it. */
  readonly port?: string;
}

/** The forms of a name, for messages. */
const NAME_FORMS = 'NAME or NAMESPACE/NAME, with :PORT for one port';

const FORM = /^(?:([a-z0-9-]+)\/)?([a-z0-9.-]+)(?::([a-z0-9-]+))?$/;

/** `-n NAMESPACE` and `-A`, for commands about Services. */
export const namespaceOptions: readonly Option[] = [
  new Option('-n, --namespace <namespace>', 'Only Services of this namespace.'),
  new Option('-A, --all-namespaces', 'Services of all namespaces, as without -n.').conflicts('namespace'),
];

/** The values of `namespaceOptions`. */
export interface NamespaceOptions {
  readonly namespace?: string;
}

/** The name in this form, in that namespace if it has none itself. Undefined if it has no such form. */
export function serviceName(text: string, namespace?: string): ServiceName | undefined {
  const [, given = namespace, name, port] = FORM.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { service: given === undefined ? name : `${given}/${name}`, ...(port !== undefined && { port }) };
}

/** The names in these operands. @throws UsageError that names the command and the first that is none */
export function serviceNames(
  command: string,
  operands: readonly string[],
  namespace?: string,
): readonly ServiceName[] {
  return operands.map((operand) => {
    const name = serviceName(operand, namespace);
    if (name) return name;
    throw new UsageError(`${command} takes names as ${NAME_FORMS}, got ${JSON.stringify(operand)}`);
  });
}

/** A name in the form in which it is read. */
export function nameText({ service, port }: ServiceName): string {
  return port === undefined ? service : `${service}:${port}`;
}
