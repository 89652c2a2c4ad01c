import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { FAULTS } from './faults.js';

/** Layers that decide something. Bootstrap and the ports between layers only connect others. */
const LAYERS = ['src/domain', 'src/application', 'src/adapters', 'src/diagnostics/domain'];
const FEW_DECISIONS = new Set([
  ...['src/application/ports', 'src/adapters/cli', 'src/adapters/process', 'src/adapters/ipset'],
  ...['src/application/status', 'src/application/traffic', 'src/domain/traffic'],
  'src/diagnostics/domain/trace',
]);

function foldersWithFiles(layer: string): readonly string[] {
  const files = readdirSync(layer, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return [...new Set(files.map(({ parentPath }) => parentPath))];
}

describe('planted faults', () => {
  it('are many, each with a name of its own', () => {
    const names = new Set(FAULTS.map(({ name }) => name));
    expect(names.size).toBe(FAULTS.length);
    expect(FAULTS.length).toBeGreaterThanOrEqual(150);
  });

  it('concern each part of the program that decides something', () => {
    const partOf = (folder: string, layer: string): string =>
      folder === layer ? layer : `${layer}/${folder.slice(layer.length + 1).split('/', 1)[0]}`;
    const parts = LAYERS.flatMap((layer) => foldersWithFiles(layer).map((folder) => partOf(folder, layer)));
    const lacking = new Set(parts.filter((part) => !FEW_DECISIONS.has(part)));
    for (const { file } of FAULTS)
      for (const layer of LAYERS)
        if (file.startsWith(`${layer}/`)) lacking.delete(partOf(dirname(file), layer));
    expect([...lacking]).toEqual([]);
  });

  it.each(FAULTS)('$name has its place in $file', ({ file, original, fault }) => {
    expect(readFileSync(file, 'utf8').split(original)).toHaveLength(2);
    expect(fault).not.toBe(original);
  });
});
