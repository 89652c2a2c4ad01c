import { chosenFrom } from '../../../src/domain/nftables/endpoint-numbers.js';
import { MAX_AFFINITY_ENDPOINTS } from '../../../src/domain/nftables/layout/traffic-class.js';
import { endpoint } from '../../support/samples.js';
import { entryOf } from '../../support/traffic/flows.js';

it('of many endpoints all are chosen from, with session affinity as many as its class has room for', () => {
  const list = (count: number) =>
    Array.from({ length: count }, (_, index) => endpoint(`10.1.${index >> 8}.${index & 255}`));
  const chosen = (count: number, affinitySeconds: number) =>
    chosenFrom(entryOf({ affinitySeconds }, list(count)), 'cluster').length;
  const most = MAX_AFFINITY_ENDPOINTS;
  expect([chosen(most, 0), chosen(most + 1, 0)]).toEqual([most, most + 1]);
  expect([chosen(most, 1), chosen(most + 1, 1)]).toEqual([most, most]);
  expect(chosenFrom(entryOf({}, []), 'local')).toEqual([]);
});
