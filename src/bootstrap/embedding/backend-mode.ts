import type { Backend } from '../../application/ports/backend.js';
import type { ProxyMode } from '../configuration/schema/schema.js';
import type { OpenMode } from '../modes/open-mode.js';

/**
 * Backends of an embedder in the place of a mode.
 * @throws when two are of one family, or there is none
 */
export function backendMode(name: ProxyMode, backends: readonly Backend[]): OpenMode {
  const byFamily = new Map(backends.map((backend) => [backend.family, backend]));
  if (backends.length === 0 || byFamily.size < backends.length) {
    const given = backends.map(({ family }) => family).join(', ') || 'none';
    throw new Error(`one backend for each family is needed, but these are for: ${given}`);
  }
  return {
    name,
    isEmbedded: true,
    families: [...byFamily.keys()],
    means: { backends: backends.map(({ mode }) => mode) },
    backend: ({ family }) => byFamily.get(family)!,
    close: async () => {
      await Promise.all(backends.map((backend) => backend.close()));
    },
  };
}
