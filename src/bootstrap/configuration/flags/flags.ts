import { commandFlags } from './command-flags.js';
import { fieldsOf, type Field } from '../schema/field.js';
import { PROXY_MODES, schema } from '../schema/schema.js';
import { shown } from '../types/value-type.js';

const sharers = fieldsOfEachFlag([...fieldsOf(commandFlags), ...fieldsOf(schema)]);

/** Every flag by name. Where several fields share one, the first of them speaks for it. */
export const flagFields: ReadonlyMap<string, Field<unknown>> = new Map(
  [...sharers].map(([name, [first]]) => [name, first!]),
);

/** What a flag means, in which modes, and what to use instead if it is deprecated. */
export function flagHelp(name: string): string {
  const fields = sharers.get(name) ?? [];
  const { help = '', deprecated } = fields[0]?.options ?? {};
  const modes = fields.every(({ options }) => options.modes)
    ? fields.flatMap(({ options }) => options.modes ?? [])
    : undefined;
  return [help, modeNote(modes), deprecated ? `Deprecated: ${deprecated}.` : ''].filter(Boolean).join(' ');
}

/** In words, the modes in which something counts; nothing when these are all. */
export function modeNote(modes: readonly string[] | undefined): string {
  if (!modes || PROXY_MODES.every((mode) => modes.includes(mode))) return '';
  const [last, ...others] = [...modes].reverse();
  const list = others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`;
  return `Only in ${modes.length > 1 ? 'modes' : 'mode'} ${list}.`;
}

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
      [name, shown(type, flags.has(name) ? flags.get(name) : flagDefault)] as const,
  );
  return [...values, ['help', 'false'] as const].sort(([a], [b]) => (a < b ? -1 : 1));
}

function fieldsOfEachFlag(fields: readonly Field<unknown>[]): ReadonlyMap<string, readonly Field<unknown>[]> {
  const byFlag = new Map<string, Field<unknown>[]>();
  for (const field of fields) {
    const { flag } = field.options;
    if (flag !== undefined) byFlag.set(flag, [...(byFlag.get(flag) ?? []), field]);
  }
  return byFlag;
}
