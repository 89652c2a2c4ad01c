import { OwnConnects } from '../../../src/application/failover/own-connects.js';
import type { AttemptOutcome } from '../../../src/application/ports/node/endpoint-connections.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { endpoint, FORWARDING, service } from '../../support/samples.js';

interface Attempt {
  readonly place: string;
  readonly end: (outcome: AttemptOutcome) => void;
  readonly signal: AbortSignal;
}

let attempts: Attempt[];
let ended: string[];
let clock: FakeClock;
let own: OwnConnects;

beforeEach(() => {
  attempts = [];
  ended = [];
  clock = new FakeClock();
  const attempt = (to: { address: string; port: number }, _: number, signal: AbortSignal) =>
    new Promise<AttemptOutcome>((end) => attempts.push({ place: endpointPlace(to), end, signal }));
  own = new OwnConnects({ attempt }, clock, (port) => {
    ended.push(port);
    own.start();
  });
});

/** A Service with a port and so many endpoints, in a network of its own. */
function entryOf(name: string, network: number, count: number) {
  const endpoints = Array.from({ length: count }, (_, index) => endpoint(`10.${network}.0.${index + 1}`));
  const [entry] = forwardService(service({ name }), () => endpoints, FORWARDING);
  return { entry: entry!, places: endpoints.map(endpointPlace) };
}
const networks = () => attempts.map(({ place }) => Number(place.split('.')[1]));
const endFirst = async (count: number) => {
  for (const { end } of attempts.splice(0, count)) end('unanswered');
  await Promise.resolve();
};

it('Services take turns, however many endpoints one of them has to try', async () => {
  const [many, few, late] = [entryOf('many', 1, 100), entryOf('few', 2, 2), entryOf('late', 3, 1)];
  own.request(many.entry, many.places);
  own.request(few.entry, few.places);
  own.start();
  expect(networks()).toEqual([1, 2, 1, 2, ...Array.from({ length: 12 }, () => 1)]);
  own.request(many.entry, many.places);
  own.request(late.entry, late.places);
  own.start();
  expect(attempts).toHaveLength(16);
  await endFirst(2);
  expect(networks().slice(-2).sort()).toEqual([1, 3]);
  expect(ended).toEqual(['IPv4 shop/many/tcp/', 'IPv4 shop/few/tcp/']);
});

it('endpoints of a service port that were not tried yet come first', async () => {
  clock.advance(1_000);
  const { entry, places } = entryOf('many', 1, 20);
  own.request(entry, places.slice(0, 16));
  own.start();
  await endFirst(16);
  own.request(entry, places);
  own.start();
  expect(attempts.map(({ place }) => place)).toEqual([...places.slice(16), ...places.slice(0, 12)]);
});

it('forgets the endpoints of a service port that wait', async () => {
  const { entry, places } = entryOf('many', 1, 20);
  own.request(entry, places);
  own.start();
  own.forget(entry);
  await endFirst(16);
  expect(attempts).toEqual([]);
  expect(own.of('IPv4 shop/many/tcp/', places[0]!)).toBeUndefined();
});

it('ends attempts when it stops, and begins no other', async () => {
  const { entry, places } = entryOf('many', 1, 20);
  own.request(entry, places);
  own.start();
  own.stop();
  expect(attempts.every(({ signal }) => signal.aborted)).toBe(true);
  await endFirst(16);
  expect(attempts).toEqual([]);
});
