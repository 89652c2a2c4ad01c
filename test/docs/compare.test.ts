import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KNOWN_DIFFERENCES } from '../../src/diagnostics/domain/compare/known-differences.js';

it('docs/install/comparing.md explains every known difference under its name', () => {
  const page = readFileSync(
    fileURLToPath(new URL('../../docs/install/comparing.md', import.meta.url)),
    'utf8',
  );
  const explained = [...page.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading!);
  expect(explained.sort()).toEqual(KNOWN_DIFFERENCES.map(({ name }) => name).sort());
});
