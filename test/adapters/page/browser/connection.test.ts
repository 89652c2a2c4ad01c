import { Connection, type ConnectionState } from '../../../../src/adapters/page/browser/asking/connection.js';

it('tells each change once, with its time', () => {
  let now = 1;
  const connection = new Connection(() => now);
  const seen: ConnectionState[] = [];
  const unfollow = connection.follow((state) => seen.push(state));
  connection.works();
  now = 2;
  connection.broke();
  now = 3;
  connection.broke();
  now = 4;
  connection.works();
  unfollow();
  connection.broke();
  expect(seen).toEqual([
    { connected: false, since: 2 },
    { connected: true, since: 4 },
  ]);
});
