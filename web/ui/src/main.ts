import { mount } from 'svelte'
import App from './App.svelte'
import './app.css'
import { employ } from './worker'

employ()
mount(App, { target: document.body })
