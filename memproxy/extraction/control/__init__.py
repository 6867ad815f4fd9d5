"""What a person plainly tells their memory in a chat: remember this, forget that, what do you know about me."""

from memproxy.extraction.control.understanding import AboutMe, Forget, Remember, Wish, understood

__all__ = ["AboutMe", "Forget", "Remember", "Wish", "understood"]
