import { commandFlags } from './command-flags.js';
import { fieldsOf, type Field } from './field.js';
import { schema } from './schema.js';

/** Every flag by name. Where several fields share one, the first of them speaks for it. */
export const flagFields: ReadonlyMap<string, Field<unknown>> = firstOfEachFlag([
  ...fieldsOf(commandFlags),
  ...fieldsOf(schema),
]);

/**
 * Every flag with its value as the command line left it, sorted by name: for /flagz and the log at the start. As with
 * kube-proxy these are the flags, not what the configuration file made of them.
 */
export function flagValues({
  flags,
}: {
  /** The flags that were given. */
  readonly flags: ReadonlyMap<string, unknown>;
}): readonly (readonly [name: string, value: string])[] {
  const values = [...flagFields].map(
    ([name, { type, flagDefault }]) =>
      [name, type.format(flags.has(name) ? flags.get(name) : flagDefault)] as const,
  );
  return [...values, ['help', 'false'] as const].sort(([a], [b]) => (a < b ? -1 : 1));
}

function firstOfEachFlag(fields: readonly Field<unknown>[]): ReadonlyMap<string, Field<unknown>> {
  const byFlag = new Map<string, Field<unknown>>();
  for (const field of fields) {
    const { flag } = field.options;
    if (flag !== undefined && !byFlag.has(flag)) byFlag.set(flag, field);
  }
  return byFlag;
}
