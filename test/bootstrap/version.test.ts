import { readFileSync } from 'node:fs';
import { PROGRAM_VERSION } from '../../src/bootstrap/version.js';

it('the version that the program tells is that of its package', () => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  expect((JSON.parse(text) as { readonly version: string }).version).toBe(PROGRAM_VERSION);
});
