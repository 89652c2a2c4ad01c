import type { Dependencies, Identifier, Resolved } from './identifier.js';

/** How the value of an identifier is made, and from what. */
export interface Provider {
  readonly identifier: Identifier<unknown>;
  readonly dependencies: Dependencies;
  make(resolved: Resolved<Dependencies>): unknown;
}

/** The providers of what belongs together. */
export type Module = readonly Provider[];

/**
 * Declares how a value is made. It is made once in its container, when it is first needed.
 * @param make has no effects but making the value: it opens, starts and logs nothing
 */
export function provide<T, const D extends Dependencies>(
  identifier: Identifier<T>,
  dependencies: D,
  make: (resolved: Resolved<D>) => NoInfer<T>,
): Provider {
  return { identifier, dependencies, make: make as Provider['make'] };
}

/** Declares a value that exists already. */
export function provideValue<T>(identifier: Identifier<T>, value: NoInfer<T>): Provider {
  return provide(identifier, {}, () => value);
}
