import { readFileSync } from 'node:fs';
import { FAULTS } from '../planted-faults/faults.js';

it('each planted fault has its place in the program, once, and a name of its own', () => {
  const misplaced = FAULTS.filter(
    ({ file, original }) => readFileSync(file, 'utf8').split(original).length !== 2,
  );
  expect(misplaced.map(({ name, file }) => `${name} in ${file}`)).toEqual([]);
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
});
