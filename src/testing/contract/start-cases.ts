import assert from 'node:assert/strict';
import { BALANCING_METHODS } from '../../domain/balancing/balancing.js';
import type { BackendSubject } from './backend-subject.js';
import { sampleEntry } from './sample-services.js';
import { variant } from './sample-sets.js';
import { changed, gone, succeeds, writesNothing, type CaseBodies } from './stage.js';

/** The contract of `start`. */
export function startCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  const { family } = subject;
  return {
    'names its family and its mode': async (stage) => {
      const backend = await stage.open();
      assert.equal(backend.family, family);
      assert.match(backend.mode, /\S/);
    },

    'starts with nothing to forward, and with services of every kind': async (stage) => {
      await stage.started([]);
      const empty = await stage.snapshot();
      const { failed } = await (await stage.open()).start(stage.all, stage.node);
      assert.deepEqual(failed, [], 'a service port could not be programmed');
      assert.notDeepEqual(await stage.snapshot(), empty, 'nothing was programmed');
    },

    'writes nothing when it is started again with the same services': async (stage) => {
      const backend = await stage.started();
      const before = await stage.snapshot();
      writesNothing(await backend.start(stage.all, stage.node), 'by the second start');
      assert.deepEqual(await stage.snapshot(), before);
    },

    'adopts what an earlier process left': async (stage) => {
      await (await stage.started()).close();
      const before = await stage.snapshot();
      const result = await (await stage.open()).start(stage.all, stage.node);
      if (subject.adopts !== false) writesNothing(result, 'although everything was right');
      assert.deepEqual(await stage.snapshot(), before);
    },

    'corrects what an earlier process left, and removes what is not needed': async (stage) => {
      const [first, ...rest] = stage.all;
      await (await stage.started()).close();
      const wanted = [sampleEntry(family, first!.name.name, { number: 99, endpoints: 1 }), ...rest.slice(1)];
      await stage.started(wanted);
      await stage.holds(wanted, 'after the start of the next process');
    },

    'corrects how an earlier process chose endpoints': async (stage) => {
      for (const balancingMethod of BALANCING_METHODS) {
        const wanted = [
          variant(family, 'plain', { balancingMethod, weights: [3, 4, 5] }),
          variant(family, 'weighted', { balancingMethod }),
        ];
        await (await stage.started(wanted)).close();
        await stage.holds(wanted, `after a start with the method ${balancingMethod}`);
      }
    },

    'keeps unexplained rules if asked to, until it is started without that option': async (stage) => {
      if (subject.keepsUnexplained === false) return;
      await (await stage.started()).close();
      const [unread, ...known] = stage.all;
      const backend = await stage.open();
      succeeds(await backend.start(known, stage.node, { keepUnexplained: true }));
      assert.notEqual(backend.mayKeep?.(unread!.name), false, 'it keeps rules, and reports that it does not');
      await stage.holds(stage.all, 'after a start that could not read everything');
      const [first, ...others] = known;
      const other = variant(family, first!.name.name, { endpoints: 1 });
      succeeds(await backend.apply(changed(other), stage.node));
      await stage.holds([unread!, other, ...others], 'after a change to another service');
      writesNothing(await backend.verify('full'), 'by a verification');
      await stage.holds([unread!, other, ...others], 'after a verification');
      succeeds(await backend.apply(changed(unread!), stage.node));
      await stage.holds([unread!, other, ...others], 'when the object could be read after all');
      succeeds(await backend.apply(gone(unread!), stage.node));
      await stage.holds([other, ...others], 'when the object was deleted');
      await (await stage.started()).close();
      const later = await stage.open();
      succeeds(await later.start(known, stage.node, { keepUnexplained: true }));
      succeeds(await later.start(known, stage.node));
      await stage.holds(known, 'after a start that could read everything');
    },

    'programs the same rules in whatever order services come': async (stage) => {
      await stage.started([...stage.all].reverse());
      await stage.holds(stage.all, 'with the services in reverse order');
    },
  };
}
