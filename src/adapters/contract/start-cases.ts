import assert from 'node:assert/strict';
import type { BackendSubject } from './backend-subject.js';
import { sampleEntry, sampleNode } from './sample-services.js';
import { everyKind, variant } from './sample-sets.js';
import { changed, gone, succeeds, writesNothing, type Plays } from './stage.js';

/** What `start` promises. */
export function startCases<Place>(subject: BackendSubject<Place>): Plays<Place> {
  const { family } = subject;
  const node = sampleNode(family);
  const all = everyKind(family);
  return {
    'says which family it is for, and what its mode is called': async (stage) => {
      const backend = await stage.open();
      assert.equal(backend.family, family);
      assert.match(backend.mode, /\S/);
    },

    'starts with nothing to forward, and with services of every kind': async (stage) => {
      await stage.started([], node);
      const empty = await stage.snapshot();
      const { failed } = await (await stage.open()).start(all, node);
      assert.deepEqual(failed, [], 'a service port could not be programmed');
      assert.notDeepEqual(await stage.snapshot(), empty, 'nothing was programmed');
    },

    'writes nothing when it is started again with the same': async (stage) => {
      const backend = await stage.started(all, node);
      const before = await stage.snapshot();
      writesNothing(await backend.start(all, node), 'by the second start');
      assert.deepEqual(await stage.snapshot(), before);
    },

    'takes over what a former process left': async (stage) => {
      await (await stage.started(all, node)).close();
      const before = await stage.snapshot();
      const result = await (await stage.open()).start(all, node);
      if (subject.adopts !== false) writesNothing(result, 'although everything was right');
      assert.deepEqual(await stage.snapshot(), before);
    },

    'puts right what a former process left otherwise, and removes what is not wanted': async (stage) => {
      const [first, ...rest] = all;
      await (await stage.started(all, node)).close();
      const wanted = [sampleEntry(family, first!.name.name, { number: 99, endpoints: 1 }), ...rest.slice(1)];
      await stage.started(wanted, node);
      await stage.holds(wanted, node, 'after the start of the next process');
    },

    'touches nothing while it prepares, and starts with what it is given then': async (stage) => {
      const backend = await stage.open();
      const before = await stage.snapshot();
      await backend.prepare?.(changed(...all), sampleNode(family, { masqueradeAll: true }));
      await backend.prepare?.([...gone(all[0]!), ...changed(all[1]!)], node);
      assert.deepEqual(await stage.snapshot(), before, 'it wrote before its start');
      const entries = [variant(family, all[2]!.name.name, { endpoints: 1 }), ...all.slice(3)];
      succeeds(await backend.start(entries, node));
      await stage.holds(entries, node, 'after a start that was prepared otherwise');
    },

    'programs the same in whatever order services come': async (stage) => {
      await stage.started([...all].reverse(), node);
      await stage.holds(all, node, 'with the services in reverse order');
    },
  };
}
