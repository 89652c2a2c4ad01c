import { ContainerModule } from 'inversify';
import type { Backend } from '../../application/ports/backend.js';
import type { ProxyMode } from '../configuration/schema/schema.js';
import { BACKENDS } from '../identifiers.js';
import type { OpenMode } from '../modes/open-mode.js';

/**
 * Backends of an embedder in the place of a mode.
 * @throws when two are of one family, or there is none
 */
export function backendMode(name: ProxyMode, backends: readonly Backend[]): OpenMode {
  const families = backends.map(({ family }) => family);
  if (families.length === 0 || new Set(families).size < families.length)
    throw new Error(
      `one backend for each family is needed, but these are for: ${families.join(', ') || 'none'}`,
    );
  return {
    name,
    families,
    means: { backends: backends.map(({ mode }) => mode) },
    module: new ContainerModule(({ bind }) => {
      bind(BACKENDS).toConstantValue(backends);
    }),
    close: async () => {
      await Promise.all(backends.map((backend) => backend.close()));
    },
  };
}
