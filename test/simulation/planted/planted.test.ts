import { readFileSync } from 'node:fs';
import { FAULTS } from './faults.js';

describe('planted faults', () => {
  it('are at least forty, each with a name of its own', () => {
    const names = new Set(FAULTS.map(({ name }) => name));
    expect(names.size).toBe(FAULTS.length);
    expect(FAULTS.length).toBeGreaterThanOrEqual(40);
  });

  it.each(FAULTS)('$name has its place in $file', ({ file, original, fault }) => {
    expect(readFileSync(file, 'utf8').split(original)).toHaveLength(2);
    expect(fault).not.toBe(original);
  });
});
