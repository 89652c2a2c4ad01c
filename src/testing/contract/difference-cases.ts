import assert from 'node:assert/strict';
import type { Backend } from '../../application/ports/backend.js';
import type { BackendSubject } from './backend-subject.js';
import { variant } from './sample-sets.js';
import { changed, gone, succeeds, type CaseBodies } from './stage.js';

/** The contract of `differences` and `plannedDifferences`, for backends that support them. */
export function differenceCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  const { family } = subject;
  return {
    'reports no difference after a start and after changes': async (stage) => {
      const backend = await stage.started();
      await differsNot(backend, 'after the start');
      succeeds(await backend.apply(changed(variant(family, 'plain', { endpoints: 1 })), stage.node));
      await differsNot(backend, 'after a change');
      succeeds(await backend.apply(gone(variant(family, 'plain', {})), stage.node));
      await differsNot(backend, 'after a removal');
    },

    'reports the changes before a start, and changes nothing': async (stage) => {
      const planned = async (options = {}): Promise<readonly string[] | undefined> =>
        signs(await (await stage.open()).plannedDifferences?.(stage.all, stage.node, options));
      const empty = await stage.snapshot();
      const before = await planned();
      if (before) assert.deepEqual([...new Set(before)], ['+'], 'on an empty place');
      assert.deepEqual(await stage.snapshot(), empty);
      await stage.started();
      assert.deepEqual((await planned()) ?? [], [], 'what is programmed already');
      assert.deepEqual((await planned({ keepUnexplained: true })) ?? [], []);
    },

    ...(subject.damage && {
      'reports the changes of another program, and leaves them': async (stage) => {
        const backend = await stage.started();
        await subject.damage!(stage.place);
        const damaged = await stage.snapshot();
        const found = signs(await backend.differences?.());
        if (found) assert.notEqual(found.length, 0, 'no difference was reported');
        assert.deepEqual(await stage.snapshot(), damaged);
        succeeds(await backend.verify('full'));
        await differsNot(backend, 'after the repair');
      },
    }),
  };
}

async function differsNot(backend: Backend, when: string): Promise<void> {
  assert.deepEqual((await backend.differences?.()) ?? [], [], when);
}

function signs(
  lines: Awaited<ReturnType<NonNullable<Backend['differences']>>>,
): readonly string[] | undefined {
  return lines?.map(({ sign }) => sign);
}
