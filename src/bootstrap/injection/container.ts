import { Container as InversifyContainer } from 'inversify';
import type { Dependencies, Identifier, Resolved } from './identifier.js';
import type { Module, Provider } from './provider.js';

/** Values by their identifiers, each made from its dependencies when it is first needed. */
export class Container {
  /** @param parent where a child gets what it does not provide itself */
  static create(parent?: Container): Container {
    return new Container(
      new InversifyContainer({ defaultScope: 'Singleton', ...(parent && { parent: parent.values }) }),
    );
  }

  private constructor(private readonly values: InversifyContainer) {}

  /** Of two providers of one identifier the later one counts. To be called before anything is resolved. */
  load(...modules: readonly Module[]): this {
    const last = new Map(modules.flat().map((provider) => [provider.identifier, provider]));
    for (const [identifier, provider] of last) this.bind(identifier, provider);
    return this;
  }

  /** Has no effects but making values: to be called where a program is put together, never by what is put together. */
  resolve<const D extends Dependencies>(dependencies: D): Resolved<D> {
    const entries = Object.entries(dependencies).map(([name, { key }]) => [name, this.values.get(key)]);
    return Object.fromEntries(entries) as Resolved<D>;
  }

  private bind({ key }: Identifier<unknown>, { dependencies, make }: Provider): void {
    const names = Object.keys(dependencies);
    if (this.values.isCurrentBound(key)) this.values.unbind(key);
    this.values.bind(key).toResolvedValue(
      (...values: unknown[]) => make(Object.fromEntries(names.map((name, place) => [name, values[place]]))),
      Object.values(dependencies).map((dependency) => dependency.key),
    );
  }
}
