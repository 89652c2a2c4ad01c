import { readFileSync } from 'node:fs';
import { backendContract } from '../../src/contract.js';
import { recordingSubject } from '../testing/contract/subjects.js';

const page = readFileSync('docs/embedding.md', 'utf8');
const section = (heading: string) => page.split(`\n### ${heading}\n`)[1]!.split(/\n##/)[0]!;

describe('docs/embedding.md', () => {
  it('lists the exports that are not stable: those of the reconciler', () => {
    const exports = readFileSync('src/index.ts', 'utf8')
      .split(/\n\n(?=\/\/)/)
      .find((part) => part.includes('minor\n// version'))!;
    const names = [...exports.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
      [...list!.matchAll(/(?:type )?(\w+)/g)].map(([, name]) => name!),
    );
    const listed = [
      ...section('Stability')
        .split('\n\n')[1]!
        .matchAll(/`(\w+)`/g),
    ].map(([, name]) => name!);
    expect(listed).toEqual(names.sort());
    expect(listed).toEqual(expect.arrayContaining(['Reconciler', 'Driver', 'OwnedParts']));
  });

  it('names cases of the contract that there are', () => {
    const named = [...page.matchAll(/The contract's\s+case is "([^"]+)"/g)].map(([, name]) =>
      name!.replace(/\s+/g, ' '),
    );
    expect(named).toHaveLength(2);
    const cases = backendContract(recordingSubject('IPv4')).map(({ name }) => name);
    expect(cases).toEqual(expect.arrayContaining(named));
  });
});
