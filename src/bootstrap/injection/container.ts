import 'reflect-metadata'; // inversify needs it first
import { Container as InversifyContainer } from 'inversify';

/** How each part is made from others, which have been made when they are asked for. Making has no effects: nothing is opened, started or logged. */
export type Providers<Own, Parts = Own> = { readonly [Name in keyof Own]: (parts: Parts) => Own[Name] };

/** Parts by their names, each made once, when it is first needed. */
export class Container<Parts extends object> {
  /** To be read where a program is put together, never by what is put together. */
  readonly parts: Parts;

  static create<Parts extends object>(providers: Providers<Parts>): Container<Parts> {
    return new Container(new InversifyContainer({ defaultScope: 'Singleton' }), providers);
  }

  private constructor(
    private readonly values: InversifyContainer,
    providers: Providers<object, Parts>,
  ) {
    this.parts = new Proxy({} as Parts, { get: (_, name) => values.get(name) });
    for (const [name, make] of Object.entries(providers) as [string, (parts: Parts) => unknown][])
      values.bind(name).toDynamicValue(() => make(this.parts));
  }

  /** A container that has parts of its own, and shares all others with this one. */
  child<Own extends object>(own: Providers<Own, Parts & Own>): Container<Parts & Own> {
    const values = new InversifyContainer({ defaultScope: 'Singleton', parent: this.values });
    return new Container<Parts & Own>(values, own);
  }
}
