import { VariantMix } from '../../../src/adapters/iptables/variants.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';

it('looks when it is asked, but not all the time', async () => {
  const clock = new FakeClock(0);
  let looks = 0;
  const mix = new VariantMix(() => Promise.resolve([`look ${++looks}`]), clock);
  expect(mix.current).toEqual([]);
  await mix.renew();
  clock.advance(9_999);
  await mix.renew();
  expect(mix.current).toEqual(['look 1']);
  clock.advance(1);
  await mix.renew();
  expect(mix.current).toEqual(['look 2']);
});
