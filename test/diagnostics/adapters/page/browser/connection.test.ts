import {
  Connection,
  type ConnectionState,
} from '../../../../../src/diagnostics/adapters/page/browser/asking/connection.js';

it('tells each change once, with its time', () => {
  let now = 1;
  const connection = new Connection(() => now);
  const seen: ConnectionState[] = [];
  const unfollow = connection.follow((state) => seen.push(state));
  connection.heard(true);
  now = 2;
  connection.heard(false);
  now = 3;
  connection.heard(false);
  now = 4;
  connection.heard(true);
  unfollow();
  connection.heard(false);
  expect(seen).toEqual([
    { connected: false, since: 2 },
    { connected: true, since: 4 },
  ]);
});
