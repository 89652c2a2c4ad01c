/** Names a dependency, and carries its type. Two identifiers are never the same, whatever their names. */
export class Identifier<T> {
  /** For the compiler only. */
  declare readonly type: T;
  readonly key: symbol;

  constructor(readonly name: string) {
    this.key = Symbol(name);
  }
}

/** What something is made from: a name for each dependency, and its identifier. */
export type Dependencies = Readonly<Record<string, Identifier<unknown>>>;

/** The values of dependencies, under the same names. */
export type Resolved<D extends Dependencies> = { readonly [K in keyof D]: D[K]['type'] };
