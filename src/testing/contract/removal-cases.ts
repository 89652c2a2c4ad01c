import assert from 'node:assert/strict';
import type { CaseBodies } from './stage.js';

/** What `cleanup` and `close` promise. */
export function removalCases<Place>(): CaseBodies<Place> {
  return {
    'removes everything that it made, and nothing else, also when called twice': async (stage) => {
      const before = await stage.snapshot();
      const backend = await stage.started();
      await backend.cleanup();
      assert.deepEqual(await stage.snapshot(), before);
      await backend.cleanup();
      assert.deepEqual(await stage.snapshot(), before);
    },

    'removes what an earlier process left, without a start': async (stage) => {
      const before = await stage.snapshot();
      await (await stage.started()).close();
      await (await stage.open()).cleanup();
      assert.deepEqual(await stage.snapshot(), before);
    },

    'removes nothing when it is closed, also when closed twice or without a start': async (stage) => {
      const backend = await stage.started();
      const before = await stage.snapshot();
      await backend.close();
      await backend.close();
      await (await stage.open()).close();
      assert.deepEqual(await stage.snapshot(), before);
    },
  };
}
