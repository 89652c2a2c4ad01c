import { isObject } from '../../domain/validation/schema.js';
import type { ValueType } from './value-types.js';

/**
 * How an edited field takes effect while the proxy runs: not at all, because it has no effect here (`none`); just reading
 * it (`at-once`); a sync of all rules that depend on it (`resync`); or a restart of the process (`restart`).
 */
export type EditEffect = 'none' | 'at-once' | 'resync' | 'restart';

/** The properties of a field besides its type and flag. */
export interface FieldOptions<T> {
  /** The meaning, for `--help` and the documentation. */
  readonly help: string;
  /** Without it, the zero value of the type. */
  readonly default?: T;
  /** Where the flags' own default differs from the file's. */
  readonly flagDefault?: T;
  /** A zero in the file counts as set: only absence and null take the default. */
  readonly keepsZero?: boolean;
  /** A written file leaves the field out if it has its default. */
  readonly omitsDefault?: boolean;
  /** The flag also applies with `--config`, and overrides the file. */
  readonly besideFile?: boolean;
  /** The value when both the flag and the file set it, if the flag does not simply override the file. */
  joinWithFile?(flag: T, file: T): T;
  /** The flag is deprecated; the text names the replacement. */
  readonly deprecated?: string;
  /** The modes in which the value has an effect; missing: in every mode. */
  readonly modes?: readonly string[];
  /** How an edit of the file takes effect in these modes while the proxy runs; missing: by a restart, which is always safe. */
  readonly onEdit?: EditEffect;
  /** kube-proxy's value in the other modes, if it drops the value there (docs/internals/spec/configuration.md §3.1). */
  readonly elsewhere?: unknown;
}

/** One field of the configuration, or one flag that is not a field: the single source of its decoding, default, flag and help. */
export class Field<T, Written = unknown> {
  readonly default: T;
  readonly flagDefault: T;
  readonly onEdit: EditEffect;

  /**
   * @param flag the flag's name without dashes, empty if there is none. Fields that name the same flag are set together; the first
   *   one's help is shown.
   */
  constructor(
    readonly type: ValueType<T, Written>,
    readonly flag: string,
    readonly options: FieldOptions<T>,
  ) {
    this.default = options.default ?? type.zero;
    this.flagDefault = options.flagDefault ?? this.default;
    this.onEdit = options.onEdit ?? 'restart';
  }

  /** The value a file gives, with the file's way of saying "unset". @throws ValueError of a wrong type */
  fromFile(value: unknown): T {
    if (value === undefined || value === null) return this.default;
    const decoded = this.type.fromFile(value);
    return !this.options.keepsZero && isZero(decoded) ? this.default : decoded;
  }

  /** The value as a file holds it; undefined when it is left out. */
  toFile(value: T): unknown {
    return this.options.omitsDefault && value === this.default ? undefined : this.type.toFile(value);
  }

  /** The value when both the file and the flag set it. */
  join(flag: T, file: T): T {
    return this.options.joinWithFile ? this.options.joinWithFile(flag, file) : flag;
  }
}

/** Makes fields that have these options in common. */
export function fieldsWith(
  common: Partial<Omit<FieldOptions<never>, 'default' | 'flagDefault' | 'joinWithFile'>>,
) {
  return <T, Written>(type: ValueType<T, Written>, flag: string, options: FieldOptions<NoInfer<T>>) =>
    new Field<T, Written>(type, flag, { ...common, ...options });
}

export const field = fieldsWith({});

/** Fields in the nesting that the YAML file has. */
export interface FieldTree {
  readonly [name: string]: Field<unknown> | FieldTree;
}

/** The values that a tree of fields describes. */
export type ValuesOf<Tree> = {
  readonly [Name in keyof Tree]: Tree[Name] extends Field<infer T> ? T : ValuesOf<Tree[Name]>;
};

/** The values that a file may have for a tree of fields. */
export type WrittenOf<Tree> = {
  readonly [Name in keyof Tree]?:
    | (Tree[Name] extends Field<unknown, infer Written> ? Written : WrittenOf<Tree[Name]>)
    | undefined;
};

/** Makes the values of a tree, field by field; `path` is the field's place, such as `iptables.syncPeriod`. */
export function buildValues<Tree extends FieldTree>(
  tree: Tree,
  valueOf: (field: Field<unknown>, path: string) => unknown,
): ValuesOf<Tree> {
  const build = (node: FieldTree, prefix: string): unknown =>
    Object.fromEntries(
      Object.entries(node).map(([name, child]) => {
        const path = prefix + name;
        return [name, child instanceof Field ? valueOf(child, path) : build(child, `${path}.`)];
      }),
    );
  return build(tree, '') as ValuesOf<Tree>;
}

/** All fields of a tree with their paths, in order. */
export function fieldEntries(tree: FieldTree): readonly (readonly [path: string, field: Field<unknown>])[] {
  const entries: (readonly [string, Field<unknown>])[] = [];
  buildValues(tree, (one, path) => entries.push([path, one]));
  return entries;
}

/** The value at a path such as `iptables.syncPeriod`; undefined where the path ends early. */
export function valueAt(values: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), values);
}

function isZero(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return Array.isArray(value) ? value.length === 0 : !value;
}
