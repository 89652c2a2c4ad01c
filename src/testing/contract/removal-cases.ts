import assert from 'node:assert/strict';
import type { BackendSubject } from './backend-subject.js';
import { sampleNode } from './sample-services.js';
import { everyKind } from './sample-sets.js';
import type { Plays } from './stage.js';

/** What `cleanup` and `close` promise. */
export function removalCases<Place>({ family }: BackendSubject<Place>): Plays<Place> {
  const node = sampleNode(family);
  const all = everyKind(family);
  return {
    'removes everything that it made, and nothing else; twice is fine': async (stage) => {
      const before = await stage.snapshot();
      const backend = await stage.started(all, node);
      await backend.cleanup();
      assert.deepEqual(await stage.snapshot(), before);
      await backend.cleanup();
      assert.deepEqual(await stage.snapshot(), before);
    },

    'removes what another process left, without a start': async (stage) => {
      const before = await stage.snapshot();
      await (await stage.started(all, node)).close();
      await (await stage.open()).cleanup();
      assert.deepEqual(await stage.snapshot(), before);
    },

    'removes nothing when it is closed; twice, and without a start, is fine': async (stage) => {
      const backend = await stage.started(all, node);
      const before = await stage.snapshot();
      await backend.close();
      await backend.close();
      await (await stage.open()).close();
      assert.deepEqual(await stage.snapshot(), before);
    },
  };
}
