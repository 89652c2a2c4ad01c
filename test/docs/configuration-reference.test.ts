import { readFileSync } from 'node:fs';
import { fieldEntries } from '../../src/bootstrap/configuration/field.js';
import { proxyFlags } from '../../src/bootstrap/configuration/flags.js';
import { configurationReference } from '../../scripts/docs/configuration-reference.js';
import { schema } from '../../src/bootstrap/configuration/schema.js';

describe('docs/configuration/README.md', () => {
  it('is what npm run docs makes of the schema', () => {
    const file = new URL('../../docs/configuration/README.md', import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(configurationReference());
  });

  it('has every field and every flag', () => {
    const text = configurationReference();
    for (const [path] of fieldEntries(schema)) expect(text).toContain(`\n| \`${path}\``);
    for (const flag of proxyFlags.keys()) expect(text).toContain(`\`--${flag}\``);
  });
});
