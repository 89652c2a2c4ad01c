import {
  ApiConnectionError,
  ApiError,
  ApiProtocolError,
} from '../../../../src/adapters/kubernetes/client/api-error.js';
import { Position } from '../../../../src/adapters/kubernetes/watch/reflector.js';

const expired = new ApiError('watch', 410, 'Expired', '');
const refused = new ApiError('watch', 429, 'TooManyRequests', '', 1000);
const broken = new ApiConnectionError('watch', 'reset');
const unreadable = new ApiProtocolError('watch', 'an event is unreadable');

function watching(version: string): Position {
  const position = new Position();
  position.version = version;
  return position;
}

it('begins with a list of whatever the server has', () => {
  expect(new Position()).toMatchObject({ version: undefined, listFrom: '0' });
});

it.each([broken, refused])('goes on watching after: %s', (error) => {
  const position = watching('7');
  position.failed(error);
  expect(position.version).toBe('7');
});

it('lists from the last version when that has expired, and then from the newest', () => {
  const position = watching('7');
  position.failed(expired);
  expect(position).toMatchObject({ version: undefined, listFrom: '7' });
  position.failed(refused);
  expect(position.listFrom).toBe('7');
  position.failed(expired);
  expect(position.listFrom).toBe('');
});

it('lists when an event is unreadable for the second time', () => {
  const position = watching('7');
  position.failed(unreadable);
  expect(position.version).toBe('7');
  position.failed(unreadable);
  expect(position).toMatchObject({ version: undefined, listFrom: '7' });
});

it('lists from the storage after that was restored', () => {
  const position = watching('7');
  position.discard();
  expect(position).toMatchObject({ version: undefined, listFrom: '' });
});
