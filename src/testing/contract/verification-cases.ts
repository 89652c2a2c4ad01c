import assert from 'node:assert/strict';
import type { BackendSubject } from './backend-subject.js';
import { variant } from './sample-sets.js';
import { changed, succeeds, writesNothing, type CaseBodies } from './stage.js';

/** The contract of `verify`. */
export function verificationCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  return {
    'finds nothing to repair when nothing was changed': async (stage) => {
      const backend = await stage.started();
      succeeds(await backend.apply(changed(variant(subject.family, 'plain', { endpoints: 1 })), stage.node));
      const before = await stage.snapshot();
      for (const how of ['quick', 'full', 'quick'] as const)
        writesNothing(await backend.verify(how), `by the ${how} verification`);
      assert.deepEqual(await stage.snapshot(), before);
    },

    'rejects only with the reason of the signal, and works as before': async (stage) => {
      const backend = await stage.started();
      const reason = new Error('something more urgent');
      try {
        await backend.verify('full', AbortSignal.abort(reason));
      } catch (error) {
        assert.equal(error, reason);
      }
      writesNothing(await backend.verify('full'), 'by the next verification');
      await stage.holds(stage.all, 'after an aborted verification');
    },

    ...(subject.damage && {
      'compares everything in a full verification, even if nothing was changed': async (stage) => {
        const backend = await stage.started();
        const result = await backend.verify('full');
        assert.equal(result.compared, true);
        writesNothing(result, 'by the verification');
      },

      'repairs what another program changed': async (stage) => {
        const backend = await stage.started();
        const before = await stage.snapshot();
        await subject.damage!(stage.place);
        assert.notDeepEqual(await stage.snapshot(), before, 'the damage changed nothing');
        const { compared, written, failed } = await backend.verify('full');
        assert.equal(compared, true);
        assert.deepEqual(failed, []);
        assert.ok(written > 0, 'no step was written');
        assert.deepEqual(await stage.snapshot(), before);
        writesNothing(await backend.verify('full'), 'by the next verification');
      },
    }),
  };
}
