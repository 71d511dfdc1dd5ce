// What the stories of a file are played on.
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import { quit, World } from './world.mjs'

// w is the world of the stories of this file, once the first of them begins.
export let w

// stage has one world for all stories of a file. None leaves anything to the next,
// and in none the page does what it may not.
export function stage(begin = () => {}) {
  before(async () => {
    w = await World.start()
    await begin()
  })
  afterEach(async () => {
    const [violations, foreign] = await w.clear()
    assert.deepEqual(violations, [], 'nothing was stopped by the policy of the page, and nothing failed in it')
    assert.deepEqual(foreign, [], 'nothing was asked of another host')
  })
  after(async () => {
    await w.end()
    await quit()
  })
}
