import {
  BUNDLE_PARTS,
  missingParts,
  type NodeBundle,
} from '../../../../src/diagnostics/application/cluster/node-bundle.js';
import { timeText } from '../../../../src/domain/model/text.js';

it('has parts, of which some may be missing', () => {
  const all = Object.fromEntries(BUNDLE_PARTS.map((part) => [part, part === 'metrics' ? 'up 1' : {}]));
  const bundle = (parts: object) =>
    ({ node: 'a', version: '1', collectedAt: timeText(0), parts: { ...all, ...parts } }) as NodeBundle;
  expect([...BUNDLE_PARTS].sort()).toEqual(['configz', 'diff', 'history', 'metrics', 'services', 'status']);
  expect(missingParts(bundle({}))).toEqual([]);
  expect(missingParts(bundle({ diff: { error: 'busy' }, status: undefined, configz: null }))).toEqual([
    'status',
    'diff',
  ]);
});
